"""`python -m digram` is the command line."""

from digram.cli import main

if __name__ == "__main__":
    main()

"""What needs an engine or a server is collected where these are installed: see `make test-engines`
and `make test-web`.
"""

from importlib.util import find_spec

collect_ignore = [
    path
    for path, library in (
        ("tests/distributed/engines", "pyspark"),
        ("python/digram/distributed/spark.py", "pyspark"),
        ("python/digram/distributed/ray.py", "ray"),
        ("tests/web", "playwright"),
        ("python/digram/web", "uvicorn"),
    )
    if find_spec(library) is None
]

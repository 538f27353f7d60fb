"""What needs an engine is collected where the engines are installed: see `make test-engines`."""

from importlib.util import find_spec

collect_ignore = [
    path
    for path, engine in (
        ("tests/engines", "pyspark"),
        ("python/digram/engines/spark.py", "pyspark"),
        ("python/digram/engines/ray.py", "ray"),
    )
    if find_spec(engine) is None
]

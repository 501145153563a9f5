"""A store that speaks S3: moto, on the port of the first argument."""

import sys

from moto.server import main

main(["--port", sys.argv[1]])

"""`python -m holdfast`: the command line, where its script is not in the path."""

from holdfast.cli import main

raise SystemExit(main())

"""What is measured: one file per subject, each with an async generator `rows(bench)`. A new file here is a new subject."""

"""The soak: many documents and texts gone wrong, through everything that reads them, in children with a memory limit.

    python -m tests.soak [--documents N] [--strings N] [--seed S] [--failures FOLDER]

Every input follows from the seed and its number alone, so a finding can be made again. `make soak` runs the full
counts, `make test-long` a tenth, `make test` a hundredth.
"""

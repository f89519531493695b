"""From `schema/v1` to everything that is generated: `python -m codegen`, and `python -m codegen --check` in CI."""

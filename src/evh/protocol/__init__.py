"""The contract: records, their codec, and what is known about every shape they have had."""

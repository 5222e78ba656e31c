"""The rows of the bench, one module for each kind of thing that is measured."""

"""What a provider needs to be written: operations, context, failures, jail, serving."""

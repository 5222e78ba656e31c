"""Who owes whom after a trip."""

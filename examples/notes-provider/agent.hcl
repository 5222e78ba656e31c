required_providers {
  notes = { source = ["python3", "./notes_provider.py"] }
}

provider "notes" {
  token = env("NOTES_TOKEN")
}

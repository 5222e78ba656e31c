policy "tasks" {
  match  = { provider = "task" }
  action = "allow"
  reason = "a list of tasks touches nothing else"
}

policy "changelog" {
  match  = { provider = "filesystem", tool_name = "edit_file" }
  when   = "writes.all(p, p == 'CHANGELOG.md')"
  action = "allow"
}

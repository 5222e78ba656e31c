required_providers {
  filesystem = { source = "builtin" }
  exec       = { source = "builtin" }
  agent      = { source = "builtin" }
  rates      = { source = ["python3", "./scripts/rates_provider.py"] }
}

provider "rates" {
  base = "EUR"
}

policy "tests" {
  match  = { tool_name = "exec.bash" }
  when   = "commands.all(c, c.program == 'tail' || (c.argv[1] == '-m' && c.argv[2] == 'unittest'))"
  action = "allow"
}

policy "notes" {
  match  = { tool_name = "filesystem.write_file" }
  when   = "writes.all(path, path.startsWith('notes/'))"
  action = "allow"
}

policy "history is mine" {
  match  = { tool_name = "exec.bash" }
  when   = "commands.exists(c, c.program == 'git' && ('commit' in c.argv || 'push' in c.argv))"
  action = "forbid"
  reason = "leave the commit to me, and say what it should say"

  examples {
    must_match     = [{ command = "git add . && git commit -m x" }, { command = "git push" }]
    must_not_match = [{ command = "git status" }]
  }
}

agent_profile "default" {
  tools = ["filesystem.*", "exec.bash", "rates.*", "agent.*"]
}

agent_profile "reader" {
  tools = ["filesystem.read_file"]
}

# A project whose agents may read everything, run its tests, and ask about the rest.

required_providers {
  filesystem = { source = "builtin" }
  search     = { source = "builtin" }
  exec       = { source = "builtin", version = ">= 0.1" }
  task       = {}
  user       = {}

  # A provider that does not come along: a program and its arguments, relative to this file.
  hello = { source = ["python3", "../hello-provider/hello_provider.py"] }
}

provider "filesystem" {
  allowed_roots = [path.root, "${path.home}/notes"]
}

provider "exec" {
  environment = ["VIRTUAL_ENV"]

  timeout {
    bash = "5m"
  }
}

policy "reads" {
  match  = { kind = "data_source" }
  action = "allow"
}

policy "tests" {
  match  = { provider = "exec", tool_name = "bash" }
  when   = "arguments.command in ['make test', 'git status --short']"
  action = "allow"
  reason = "these change nothing"

  examples {
    must_match     = [{ command = "make test" }]
    must_not_match = [{ command = "make test; rm -r x" }]
  }
}

policy "nothing critical" {
  match  = { risk = "critical" }
  action = "forbid"
  reason = <<-E
    Nobody has to be able to do that here.
  E
}

agent_profile "default" {
  tools        = ["filesystem.*", "search.*", "exec.bash", "task.*", "user.*", "hello.greet"]
  max_turns    = 100
  max_cost_usd = 5
  depth        = 1
}

agent_profile "reader" {
  tools = [for name in ["read_file"] : "filesystem.${name}"]

  model {
    primary {
      provider = "anthropic"
      id       = "claude-sonnet-5-5"
    }
    fallback {
      provider = "openai"
      id       = "gpt-5"
    }
  }
}

settings {
  log_level       = "info"
  retry           = 2
  default_timeout = "2m"
  gate_reads      = false
}

"""Repositories, how they are made, and what git then runs in them. Data alone."""

BASE = """
git init -q -b main repo && cd repo && echo a > f && mkdir sub && echo b > sub/g && git add -A
git commit -q -m one && echo more >> f
"""
"""What every repository begins as."""

_ONLY_COMMITTED = """
git init -q s; git -C s commit -q --allow-empty -m s; git add s 2>/dev/null; git commit -qm s
echo c > s/x; git -C s add x; git -C s commit -qm t; git add s; git commit -qm t
git rm -q --cached s; git commit -qm u
"""
"""An embedded repository that the index names no more."""

HOSTILE = {
    "core.fsmonitor": ("git config core.fsmonitor $EVIL", "git status"),
    "a key behind its section": ('printf "[core] fsMonitor=$EVIL\\n" >> .git/config', "git status"),
    "several sections in a line": (
        'printf "[a][core]fsmonitor=$EVIL\\n" >> .git/config',
        "git diff",
    ),
    "carriage returns": (
        'printf "[core]\\r\\n\\tfsmonitor=$EVIL\\r\\n" >> .git/config',
        "git status",
    ),
    "a value in quotes": (
        'printf "[core]\\nfsmonitor=\\"$EVIL\\"\\n" >> .git/config',
        "git status",
    ),
    "a continued line": (
        'printf "[core]\\nfsmoni\\\\\\ntor=x\\nfsmonitor=\\\\\\n$EVIL\\n">>.git/config',
        "",
    ),
    "a mark of the order of bytes": (
        'printf "\\xef\\xbb\\xbf[core]\\nfsmonitor=$EVIL\\n" | cat - .git/config > c; '
        "mv c .git/config",
        "git status",
    ),
    "include.path": (
        "git config -f x core.fsmonitor $EVIL; git config include.path ../x",
        "git status",
    ),
    "includeIf": (
        'git config -f x core.fsmonitor $EVIL; git config "includeIf.gitdir:**.path" ../x',
        "git status",
    ),
    "behind a megabyte of comments": (
        'head -c 1100000 /dev/zero | tr "\\0" "#" >> .git/config; echo >> .git/config; '
        "git config core.fsmonitor $EVIL",
        "git status",
    ),
    "config.worktree": (
        "git config extensions.worktreeConfig true; git config --worktree core.fsmonitor $EVIL",
        "git status",
    ),
    "a .git that is a link": (
        "mv .git ../g; ln -s ../g .git; git config core.fsmonitor $EVIL",
        "git log; git status",
    ),
    "a .git that is a file": (
        'mv .git ../g; echo "gitdir: ../g" > .git; git config core.fsmonitor $EVIL',
        "git status",
    ),
    "commondir": (
        "cp -r .git ../g; git config -f ../g/config core.fsmonitor $EVIL; "
        "echo ../../g > .git/commondir",
        "git status",
    ),
    "a linked worktree": (
        "git worktree add -q ../w -b w; git config core.fsmonitor $EVIL",
        "cd ../w && git status",
    ),
    "a submodule's configuration": (
        "git init -q s; git -C s commit -q --allow-empty -m s; "
        "git -c protocol.file.allow=always submodule add -q ./s t >/dev/null; "
        "git -C t config core.fsmonitor $EVIL",
        "git status",
    ),
    "an embedded repository": (
        "git init -q s; git -C s commit -q --allow-empty -m s; git add s 2>/dev/null; "
        "git -C s config core.fsmonitor $EVIL",
        "git status",
    ),
    "an embedded repository in an index of version 4": (
        "git init -q s; git -C s commit -q --allow-empty -m s; git add s 2>/dev/null; "
        "git update-index --index-version 4; git -C s config core.fsmonitor $EVIL",
        "git status",
    ),
    "an embedded repository in a split index": (
        "git init -q s; git -C s commit -q --allow-empty -m s; git add s 2>/dev/null; "
        "git update-index --split-index; git -C s config core.fsmonitor $EVIL",
        "git status",
    ),
    "an embedded repository in an embedded one": (
        "git init -q s; git init -q s/t; git -C s/t commit -q --allow-empty -m s; "
        "git -C s add t 2>/dev/null; git -C s commit -q -m s; git add s 2>/dev/null; "
        "git -C s/t config core.fsmonitor $EVIL",
        "git status",
    ),
    "another directory": (
        "git init -q s; git -C s config core.fsmonitor $EVIL",
        "cd s && git status",
    ),
    "two steps down": (
        "git init -q sub/s; git -C sub/s config core.fsmonitor $EVIL",
        "cd sub; cd s; git status",
    ),
    "through a link and back": (
        "mkdir ../o; git init -q ../o/s; ln -s ../o/s l; git -C ../o/s config core.fsmonitor $EVIL",
        "cd l && git status",
    ),
    # An old time: git writes no index for a file that changed when the index did.
    "a hook of every command": (
        "cp $EVIL .git/hooks/post-index-change; touch -d 2001-01-01 f",
        "git status",
    ),
    "a hook of commits": ("cp $EVIL .git/hooks/pre-commit", "git commit -q -a -m two"),
    "a hook of any name": ("cp $EVIL .git/hooks/reference-transaction", "git branch x"),
    "core.hooksPath": (
        "mkdir h; cp $EVIL h/post-checkout; git config core.hooksPath h",
        "git checkout -q -b x",
    ),
    "a hook of every command, elsewhere": (
        "mkdir h; cp $EVIL h/post-index-change; git config core.hooksPath h; touch -d 2001-01-01 f",
        "git status",
    ),
    "a hook of refs": ("cp $EVIL .git/hooks/reference-transaction", "git tag x"),
    "hooks behind a link": (
        "mkdir h; cp $EVIL h/post-checkout; rm -r .git/hooks; ln -s ../h .git/hooks",
        "git checkout -q -b x",
    ),
    "a filter": (
        'echo "* filter=x" > .gitattributes; git config filter.x.clean $EVIL',
        "git diff",
    ),
    "a process of a filter": (
        'echo "* filter=x" > .gitattributes; git config filter.x.process $EVIL',
        "git add f",
    ),
    "a driver of diff": (
        'echo "* diff=x" > .gitattributes; git config diff.x.command $EVIL',
        "git diff",
    ),
    "text conversion": (
        'echo "* diff=x" > .git/info/attributes; git config diff.x.textconv $EVIL',
        "git diff",
    ),
    "a driver of merge": (
        'echo "* merge=x" > .gitattributes; git config merge.x.driver $EVIL; git commit -qam m; '
        "git checkout -q -b x HEAD~; echo c > f; git commit -qam c; git checkout -q -f main",
        "git merge -q x",
    ),
    "diff.external": ("git config diff.external $EVIL", "git diff"),
    "an alias": ('git config alias.st "!$EVIL"', "git st"),
    "a signature's program": (
        "git config gpg.program $EVIL; git config commit.gpgSign true",
        "git commit -q -a -m two",
    ),
    "core.sshCommand": (
        "git config core.sshCommand $EVIL; git remote add origin ssh://h/x",
        "git fetch -q origin",
    ),
    "url.insteadOf and a helper": (
        'git config protocol.ext.allow always; git config "url.ext::$EVIL .insteadOf" https:; '
        "git remote add origin https://h/x",
        "git fetch -q origin",
    ),
    "remote.uploadpack": (
        "git remote add origin ../repo; git config remote.origin.uploadpack $EVIL",
        "git fetch -q origin",
    ),
    "remote.vcs": (
        "git remote add origin ssh://h/x; git config remote.origin.vcs ext; "
        'git config protocol.ext.allow always; git config remote.origin.url "$EVIL"',
        "git fetch -q origin",
    ),
    "core.editor": ("git config core.editor $EVIL", "git commit -q -a"),
    "sequence.editor": (
        "git stash -q; git config sequence.editor $EVIL",
        "git rebase -q -i --root",
    ),
    "a trailer's command": (
        "git config trailer.x.command $EVIL; git config trailer.x.key X",
        "git commit -q -a -m two --trailer x=y",
    ),
    "credential.helper": (
        'git config credential.helper "!$EVIL"; git config core.askPass true',
        "",
    ),
    "a remote that is a directory, with hooks": (
        "git init -q --bare ../b; cp $EVIL ../b/hooks/update; git remote add origin ../b",
        "git push -q origin main",
    ),
    "a push to a directory with hooks": (
        "git init -q --bare ../b; cp $EVIL ../b/hooks/update",
        "git push -q ../b main",
    ),
    "a bare repository": (
        "git clone -q --bare . b; git -C b config core.fsmonitor $EVIL; "
        "git -C b config alias.st '!'$EVIL",
        "cd b && git st",
    ),
    "a template's hooks": (
        "mkdir -p t/hooks; cp $EVIL t/hooks/post-checkout; git config init.templateDir $PWD/t",
        "",
    ),
    "a decoy on the way up": (
        "git config core.fsmonitor $EVIL; mkdir sub/.git; touch sub/.git/HEAD",
        "cd sub && git status",
    ),
    "a decoy with everything but refs": (
        "git config core.fsmonitor $EVIL; mkdir -p sub/.git/objects; "
        'echo "ref: refs/heads/x" > sub/.git/HEAD',
        "cd sub && git status",
    ),
    "a bare one whose HEAD is a link that leads nowhere": (
        "mkdir -p b/objects b/refs; ln -s refs/heads/nope b/HEAD; "
        'printf "[core]\nbare = true\n[alias]\nst = !$EVIL\n" > b/config',
        "cd b && git st",
    ),
    "a bare one that is elsewhere but for its HEAD": (
        "mkdir -p b c/objects c/refs; ln -s refs/heads/nope b/HEAD; echo ../c > b/commondir; "
        'printf "[core]\nbare = true\n[alias]\nst = !$EVIL\n" > c/config',
        "cd b && git st",
    ),
    "a bare one above": (
        "mkdir -p b/objects b/refs b/x; ln -s refs/heads/nope b/HEAD; "
        'printf "[core]\nbare = true\n[alias]\nst = !$EVIL\n" > b/config',
        "cd b/x && git st",
    ),
    "a partial clone, which fetches and then collects garbage": (
        "git commit -qam two; git config uploadpack.allowFilter true; cd ..; mv repo far; "
        "git clone -q --no-checkout --filter=blob:none file://$PWD/far repo; cd repo; "
        "git config gc.autoPackLimit 1; cp $EVIL .git/hooks/pre-auto-gc",
        "git log -p",
    ),
    "an embedded repository that only commits name": (
        f"{_ONLY_COMMITTED} git -C s config diff.external $EVIL",
        "git log -p --submodule=diff",
    ),
    "an embedded repository that only commits name, by configuration": (
        f"{_ONLY_COMMITTED} git -C s config diff.external $EVIL; git config diff.submodule diff",
        "git log -p",
    ),
    "a .git that is a file, whose bytes are no text": (
        "cp -r .git $(printf 'r\357\277\275'); git config core.fsmonitor $EVIL; "
        "mv .git $(printf 'r\377'); printf 'gitdir: r\377\n' > .git",
        "git status",
    ),
    "a commondir whose bytes are no text": (
        "cp -r .git $(printf '../g\357\277\275'); cp -r .git $(printf '../g\377'); "
        "git config -f $(printf '../g\377/config') core.fsmonitor $EVIL; "
        "printf '../../g\377\n' > .git/commondir",
        "git status",
    ),
    "a folder of hooks whose bytes are no text": (
        "git config core.hooksPath $(printf 'h\377'); mkdir $(printf 'h\377'); "
        "cp $EVIL $(printf 'h\377/post-checkout')",
        "git checkout -q -b x",
    ),
    "a folder of hooks that ends in what looks like a blank": (
        "git config core.hooksPath $(printf 'h\342\200\203'); mkdir $(printf 'h\342\200\203'); "
        "cp $EVIL $(printf 'h\342\200\203/post-checkout')",
        "git checkout -q -b x",
    ),
    "an embedded repository in quotes": (
        "git init -q '\"s\"'; git -C '\"s\"' commit -q --allow-empty -m s; "
        "git add '\"s\"' 2>/dev/null; git -C '\"s\"' config core.fsmonitor $EVIL",
        "git status",
    ),
    "an embedded repository behind a false size of hashes": (
        "git init -q s; git -C s commit -q --allow-empty -m s; git add s 2>/dev/null; "
        "git -C s config core.fsmonitor $EVIL; echo '# objectformat = sha256' >> .git/config",
        "git status",
    ),
}
"""What makes git run `$EVIL`, and by which command; "" where that needs a network or a person."""

PLAIN = {
    "a fresh one": ("", "git status"),
    "with a remote and branches": (
        "git remote add origin https://h/x; git config branch.main.remote origin; "
        "git config branch.main.merge refs/heads/main; git config branch.main.description d; "
        "git config user.email a@b; git config pull.rebase true; git config color.ui auto",
        "git fetch; git push -q origin main; git log",
    ),
    "an address as scp has it": ("git remote add origin git@host:a/b.git", "git fetch"),
    "a clone of a directory, to read": (
        "cd ..; git clone -q repo c; cd c",
        "git status && git log",
    ),
    "hooks of commits, to read": (
        "for h in pre-commit commit-msg pre-push; do cp $EVIL .git/hooks/$h; done",
        "git status; git log -p; git diff",
    ),
    "hooks of commits elsewhere, to read": (
        "mkdir -p .husky/_; cp $EVIL .husky/_/pre-commit; git config core.hooksPath .husky/_",
        "git status; git log; git add f; git branch x",
    ),
    "hooks of commits, to work here": (
        "cp $EVIL .git/hooks/pre-commit; git remote add origin ../b",
        "git add f; git branch x; git tag t; git reset -q; git --no-pager log",
    ),
    "hooks that are no programs": (
        "echo x > .git/hooks/post-index-change",
        "git commit -q -a -m x",
    ),
    "a submodule": (
        "git init -q ../s; git -C ../s commit -q --allow-empty -m s; "
        "git -c protocol.file.allow=always submodule add -q ../s t >/dev/null",
        "git status; git diff",
    ),
    "a linked worktree": ("git worktree add -q ../w -b w", "cd ../w && git status"),
    "an index of version 4": ("git update-index --index-version 4", "git status"),
    "below it": ("", "cd sub && git log; cd .. && git diff"),
    "an embedded repository that nothing names": (
        "git init -q d; git -C d commit -q --allow-empty -m d; cp $EVIL d/.git/hooks/pre-commit; "
        "git -C d config core.fsmonitor $EVIL; echo c > d/h",
        "git status -uall; git grep -n --no-index b; git add .",
    ),
    "fsmonitor turned off": ("git config core.fsmonitor false", "git status"),
}
"""What does not."""

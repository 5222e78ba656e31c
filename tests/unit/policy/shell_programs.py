"""Commands by what their programs do: run, write, or what nobody knows. Data alone."""

ASSIGNING = r"""
printf -v 'a[$(touch MARK)]' x
printf -v PATH x
printf -vPATH x
printf '%n' PATH
printf '%5n' PATH
printf '%ln' PATH
printf '%lhn' PATH
printf '%hhhhn' PATH
printf '%*n' 1 PATH
printf '%-.3jjn' PATH
printf '%s%zLn' x PATH
printf '%(%s)T%n' 1 PATH
printf '%d' 'a[$(touch MARK)]'
printf '%Q' x
printf '%1$n' PATH
printf -- '%n' PATH
printf -- -v
jobs -x rm x
test -v 'a[$(touch MARK)]'
[ -v 'a[$(touch MARK)]' ]
test -R 'a[$(touch MARK)]'
test ! -v 'a[$(touch MARK)]'
test 1 -eq 'a[$(touch MARK)]'
[ 'a[$(touch MARK)]' -lt 1 ]
test x -gt 1
let 'a[$(touch MARK)]'
let x=1
wait -p PATH -n
wait -fp 'a[$(touch MARK)]'
read PATH
read -a 'a[$(touch MARK)]'
unset PATH
unset -v 'a[$(touch MARK)]'
declare PATH=.
typeset PATH=.
local x=1
export PATH=.
readonly PATH=.
mapfile x
readarray -C rm x
getopts ab PATH
alias ls=rm
unalias ls
enable -f ./x.so x
hash -p ./x ls
bind -x x
set -x
shopt -s expand_aliases
trap 'rm x' EXIT
source x
. x
history -r x
fc -s
compgen -C 'rm x'
complete -C rm x
eval rm x
coproc rm x
""".strip().splitlines()
"""Builtins that assign, evaluate, or change what others mean."""

RUNNING = r"""
tar tIf ./x a.tar
tar xIf ./x a.tar
tar tFf ./x a.tar
tar -xI ./x -f a
tar tf h:x
tar xf a --to-command=./x
tar xf a --to-c ./x
tar cf a . --checkpoint-action=exec=./x
tar -T list -cf a
tar cfT a list
tar x --use-comp ./x -f a
tar --rsh-command=./x tf a
node --experimental-loader ./x a.js
node -r ./x a.js
node --import=./x a.js
node --require ./x a.js
node --loader ./x a.js
node -e x
node -pe x
node
python -c x
python3 -Bc x
python3.11 -cx
python -W x::a.B y.py
python -i x.py
python3 -
python3
python3 /dev/stdin
perl -e x
perl -ne x
perl -Mx y
perl -I. x
perl -d x
perl
ruby -r ./x y
ruby -rx y
ruby -e x
ruby -I. y
php -r x
php -d auto_prepend_file=x y
lua -l x y
lua -e x
deno eval x
gcc -fplugin=./x.so a.c
gcc -specs=x a.c
gcc -specs x a.c
gcc --specs=x a.c
gcc -B. a.c
gcc -B . a.c
gcc @args a.c
gcc -wrapper ./x a.c
g++ -fuse-ld=x a.c
clang -Xclang -load a.c
cc -Wl,-plugin,x a.c
gcc-12 -fplugin=x a.c
ld @args
x86_64-linux-gnu-gcc -B. a.c
ld -plugin ./x.so a.o
ar @args
javac @args
java -javaagent:x.jar A
java @args
java -XX:OnError=./x A
git add -e x
git add --edit x
git commit -S -m x
git log --show-signature
git clone -u ./x a b
git rebase -x ./x
git fetch --upload-pack=./x
git help log
git -o x
git --config-env=a=b log
git -ccore.pager=x log
git submodule foreach x
rsync -e ./x a h:b
rsync -avze ./x a b
rsync --rsh=./x a b
rsync --rsync-path=x a b
ssh -o ProxyCommand=./x h
scp -o ProxyCommand=x a h:
scp -S ./x a h:
sftp -b x h
find . -exec
find . -fls f
find . -fprintf f x
awk 1 x
gawk -f x
mawk 1
sed -e 'e rm x' f
sed 'w f' g
sed -n 's/a/b/w f' g
sed -f x g
sed -i s/a/b/ f
vim x
ed x
ex x
view x
vimdiff a b
env -S 'rm x'
env -u A ls
watch rm x
script -c 'rm x'
strace rm x
gdb -ex x a
ltrace rm
parallel rm
flock x rm x
less '+!touch x' f
less -k x f
more '+!rm x' f
man -P ./x ls
man -H./x ls
curl -K x h
curl -o f -K x
curl --config x h
curl -w '%output{f}' h
curl -O h
curl --remote-name h
curl -sSLO h
curl --write-out '%output{f}x' h
curl -w @f h
wget -i x
wget -e x=y h
wget --use-askpass=./x h
make SHELL=./x
make --eval=x
make -f x
split --filter=./x a
install --strip-program=./x a b
patch -e x
zip -T a b
zip a b -TT ./x
npm --script-shell=./x run y
go test -exec ./x ./...
go build -toolexec=./x
go build -ldflags=-extld=./x
cargo --config x build
tcpdump -z ./x
nc -e ./x h
sqlite3 db '.shell rm x'
psql -c '\! rm x'
dc -e '!rm'
rg --pre-g x --pre ./x y
fd -x rm
sort --compress-prog=./x a
date -s x
tree -R
cpio --rsh-command=./x
openssl x -engine ./x
pandoc --filter ./x a
ctags --options=x
file -C -m x
jq -L . x
yq -i x f
timeout 5 env -S x
xargs -I{} sh -c {}
xargs -I {} {}
xargs -I ls ls
xargs -Ix nohup x
xargs --replace {}
xargs -I% env %
xargs --replace sh ls
xargs --max-lines sh ls
find . -exec rg + --pre ./x ;
find . -exec rg + --pre ./x \;
nodejs -e x
ipython -c x
vim.tiny x
tclsh8.6 x
bash5 x
python3.12 -c x
ldd ./x
rename s/a/b/ f
setarch x86_64 rm x
mise exec -- rm x
pyenv exec rm x
ip netns exec x rm
fzf --preview rm
cmake -P x
cmake -E rm x
git cat-file --filters HEAD:x
sort -k -o f a
./frob exec rm
pipenv run rm x
rye run rm x
dotenv run rm x
dotenv -- rm x
op run -- rm x
doppler run -- rm x
flatpak run x rm
gxargs -I{} {}
gfind . -exec
genv -S rm
R -e 'system("rm x")'
Rscript -e x
swift -e x
swift
dart
hy -c x
bb -e x
bb --eval x
crystal eval x
tcc -run x.c
zig run x.zig
poetry run rm x
uv run rm x
hatch run rm x
pdm run rm x
npx rm
bunx rm
pnpm exec rm x
pnpm dlx rm
yarn dlx rm
mise exec -- rm x
mise x rm
asdf exec rm x
direnv exec . rm x
nix run x
nix shell x -c rm
nix develop -c rm x
docker exec c rm x
docker compose exec c rm x
docker run --rm c rm x
podman exec c rm x
kubectl exec p -- rm x
ssh h rm x
chroot . rm x
unshare rm x
nsenter -t 1 rm x
systemd-run rm x
firejail rm x
bwrap rm x
setpriv rm x
runuser -u x rm x
su -c 'rm x'
doas -C x rm x
pkexec rm x
faketime x rm x
torsocks rm x
proxychains rm x
proxychains4 rm x
rlwrap rm x
unbuffer rm x
valgrind rm x
perf stat rm x
hyperfine 'rm x'
entr rm x
taskset 1 rm x
numactl -N0 rm x
chrt 1 rm x
cgexec -g x rm x
coverage run x
find . -exec {} +
find . -exec sh -c {} +
find . -execdir nohup {} +
""".strip().splitlines()
"""Programs that run or load what their words name."""

LOOKED_THROUGH = (
    *("gtimeout 5 rm x", "gnice rm x", "gnohup rm x", "gstdbuf -oL rm x", "stdbuf -oL rm x"),
    *("setsid rm x", "nohup rm x", "ionice -c3 rm x", "genv rm x", "gfind . -exec rm {} +"),
    *("ls | gxargs rm", "sudo rm x", "doas rm x", "timeout 5 rm x"),
)
"""Wrappers whose own words are understood: what they run stands beside them."""

UNPROVEN = (
    ("python -m http.server", "-m"),
    ("python3 -m pytest -q -x --exec y", "-m"),
    ("python -X dev a.py", "-X"),
    ("python3 -mpytest", "-m"),
    ("node --frob a.js", "--frob"),
    ("ls --frob", "--frob"),
    ("sort --frob=x a", "--frob"),
    ("grep -Q x a", "-Q"),
    ("cat -nq a", "-nq"),
    ("frob --exec x", "--exec"),
    ("frob --exec-batch=rm a", "--exec-batch"),
    ("frob --use-shell-command x", "--use-shell-command"),
    ("frob --load-plugin x", "--load-plugin"),
    ("frob --outputFile=x", "--outputFile"),
    ("frob --output x", "--output"),
    ("frob --log-file x", "--log-file"),
    ("pytest --basetemp x --pager less", "--pager"),
    ("./frob --editor=./x", "--editor"),
    ("nohup frob --preload x", "--preload"),
)

"""Commands by what their programs do: run, write, or what nobody knows. Data alone."""

ASSIGNING = r"""
printf -v 'a[$(touch MARK)]' x
printf -v PATH x
printf -vPATH x
printf '%n' PATH
printf '%5n' PATH
printf '%ln' PATH
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
find . -exec {} +
find . -exec sh -c {} +
find . -execdir nohup {} +
""".strip().splitlines()
"""Programs that run or load what their words name."""

PLAIN = r"""
ls -la --color=never src
cat -n a b
head -20 a
head -n 20 a
tail -n +3 a
wc -l a
sort -u -k2,2 -t, a
sort -nr a
sort -nrk2 a
sort --reverse a
uniq -c
uniq -c a
cut -d, -f1 a
tr a-z A-Z
tr -d x
grep -rn 'a b' src
grep -E a b
grep --color=auto a b
rg -n a src
rg --files -g x
rg -tpy -A3 a
rg -e a -e b
diff -u a b
diff --color=always a b
stat -c %s a
du -sh a
df -h
file a
date
date +%F
date -u
tree -L 2
ps aux
ps -ef
basename a .c
pwd
id
printf '%s\n' a
printf -- '%s' a
test -f a
test 1 -eq 2
echo -n a
echo --exec -o x
true
kill 1
wait
wait 12
cd a
umask 022
git status
git status -sb
git log -p --oneline -5
git diff --stat HEAD
git show
git log --pretty=format:%h
git add -A
git commit -m 'x Se'
git commit -am x
git push origin main
git checkout -b x
git fetch --all
git diff --no-ext-diff
git diff --text
git rebase -i main
git stash
git branch -a
git pull --rebase
git clone -b x h
git grep -n a
git blame -L1,5 a
git tag -l
git merge --no-ff x
tar tf a.tar
tar xzf a.tgz
tar -xzf a.tgz -C d
tar czf a.tgz d
tar xvf a.tar
curl -sSL h
curl -H 'Accept: a' h
curl -X POST -d x h
curl -I h
wget h
curl -s -w '%{http_code}' h
curl -b x=y h
curl --cookie x h
wget -q h
gcc -O2 -Wall -c a.c
gcc -std=c11 -Iinc -Llib a.c -lm
gcc a.c -o a
cc -g -DX=1 a.c
make
make -j4 test
make -k all
make --no-print-directory x
go test ./...
go test -run X -count=1 ./...
go build ./...
go vet ./...
cargo test --all
cargo build --release
cargo clippy --all-targets
npm test
npm run build
npm install --save-dev left-pad
npm ci
pnpm install
yarn build
pip install -r x
pytest
pytest -q tests/a.py
pytest -x -k 'a and b'
pytest --import-mode=importlib
ruff check src
ruff check --output-format=github .
ruff format --check
mypy --strict x
mypy --config-file mypy.ini x
eslint --fix src
prettier --write a
tsc --noEmit
python a.py
python3 -u a.py -c x
python3 a.py --exec x
python -B -O a.py
python3 --version
node --version
node a.js
node --test a.js
node a.js --require x
python -W error a.py
perl a.pl -e
perl -w a.pl
ruby a.rb -r x
php a.php
docker ps
docker build -t x .
kubectl get pods -o yaml
kubectl get x --output json
aws s3 ls --output=json
terraform plan
jq . a
jq -r '.a' a
sed -n 1,5p a
sed s/a/b/ a
cp -r a b
mv a b
mkdir -p a
touch a
rm -f a
chmod +x a
rsync -av a/ b/
scp a h:b
unzip a.zip
zip -r a.zip d
gzip -k a
sleep 1
find . -name a
xargs -0 ls
timeout 5 ls
nohup ls
cd a && mkdir b
cd a && ls
java -jar a.jar --exec x
java -cp x A
javac -d out A.java
bat a
man ls
fd a
./scripts/build --fast
bundle install
rake test
mvn -q test
gradle build
""".strip().splitlines()
"""What people allow, and mean."""

UNEXPECTED = (
    ("uniq a b", ["b"]),
    ("uniq -c -f 2 a b", ["b"]),
    ("sort -o f a", ["f"]),
    ("sort -nof a", ["f"]),
    ("sort --outp=f a", ["f"]),
    ("sort a -T d", ["d"]),
    ("less -o f a", ["f"]),
    ("less -Of a", ["f"]),
    ("tee f g", ["f", "g"]),
    ("ls | tee -a f", ["f"]),
    ("dd if=a of=f", ["f"]),
    ("curl -o f h", ["f"]),
    ("curl -sSLof h", ["f"]),
    ("curl --libcurl f h", ["f"]),
    ("curl --etag-save=f h", ["f"]),
    ("curl -D f h", ["f"]),
    ("curl -c f h", ["f"]),
    ("curl --trace f h", ["f"]),
    ("curl --trace-asc f h", ["f"]),
    ("curl --cookie-j f h", ["f"]),
    ("wget -O f h", ["f"]),
    ("wget -qOf h", ["f"]),
    ("wget -o f h", ["f"]),
    ("git diff --output=f", ["f"]),
    ("git log --outp f", ["f"]),
    ("git archive -o f HEAD", ["f"]),
    ("git format-patch -o f HEAD", ["f"]),
    ("xxd a f", ["f"]),
    ("shuf -o f a", ["f"]),
    ("tree -o f", ["f"]),
    ("node --redirect-warnings=f a.js", ["f"]),
    ("tcpdump -w f", ["f"]),
    ("openssl x -out f", ["f"]),
    ("nohup sort -o f a", ["f"]),
    ("nohup tee f < a", ["f"]),
    ("sh -c 'uniq a f'", ["f"]),
)

TRADE = (
    ("cp a f", ["f"]),
    ("cp --target-dir=f a", ["f"]),
    ("mv a f", ["a", "f"]),
    ("touch -d x f", ["f"]),
    ("mkdir -p f/g", ["f/g"]),
    ("rm -rf f g", ["f", "g"]),
    ("ln -s a f", ["a", "f"]),
    ("truncate -s0 f", ["f"]),
    ("chmod +x f", ["f"]),
    ("tar cf f a", ["f"]),
    ("tar cvzf f a", ["f"]),
    ("tar -c -f f a", ["f"]),
    ("tar --create --file=f a", ["f"]),
    ("gcc -o f a.c", ["f"]),
    ("gcc -of a.c", ["f"]),
    ("gcc-12 -MD -MF f a.c", ["f"]),
    ("go build -o f ./x", ["f"]),
    ("rsync -a a/ f", ["f"]),
    ("cd d && mkdir f", ["f", "d/f"]),
    ("cd d; cd e; touch f", ["f", "e/f", "d/f", "d/e/f"]),
    ("rm /x; cd d", ["/x"]),
)

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

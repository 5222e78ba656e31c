"""Commands by the files that they write, and everyday ones that write none. Data alone."""

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
printf '%-20s|%%\n' a
printf '%03d %.2f\n' 7 1.5
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

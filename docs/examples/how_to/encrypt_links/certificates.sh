set -e
# An authority, valid for ten years.
openssl req -x509 -newkey rsa:3072 -nodes -days 3650 -subj "/CN=our monitoring" -keyout ca.key -out ca.pem
# For each host a key and a certificate, valid for one.
for host in relay sensor desk; do
  openssl req -newkey rsa:3072 -nodes -subj "/CN=$host" -keyout $host.key -out $host.csr
  openssl x509 -req -in $host.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 365 -out $host.pem
done

# shellcheck shell=bash
# The cluster's certificate authority, one certificate per component, and the kubeconfig files. Sourced.
# Existing files are kept; a file appears only when it is whole.

pki=$cluster_dir/pki

make_authority() {
  [[ -f $pki/ca.crt ]] && return 0
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "/CN=windlass-$cluster_name" \
    -keyout "$pki/ca.key" -out "$pki/ca.new" 2>/dev/null
  openssl genrsa -out "$pki/service-account.key" 2048 2>/dev/null
  mv "$pki/ca.new" "$pki/ca.crt"
}

# usage: make_certificate NAME SUBJECT [SUBJECT-ALT-NAMES]
make_certificate() {
  local name=$1 subject=$2 names=${3:-}
  [[ -f $pki/$name.crt ]] && return 0
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "$subject" \
    -keyout "$pki/$name.key" -out "$pki/$name.csr" 2>/dev/null
  openssl x509 -req -in "$pki/$name.csr" -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -CAcreateserial -days 3650 \
    -out "$pki/$name.new" 2>/dev/null \
    -extfile <(echo "${names:+subjectAltName=$names}"; echo extendedKeyUsage=serverAuth,clientAuth)
  mv "$pki/$name.new" "$pki/$name.crt"
}

# usage: make_kubeconfig FILE CERTIFICATE-NAME
make_kubeconfig() {
  local file=$1 user=$2
  (
    umask 077
    cat >"$file.new" <<YAML
apiVersion: v1
kind: Config
current-context: windlass-$cluster_name
contexts:
  - name: windlass-$cluster_name
    context: { cluster: windlass-$cluster_name, user: $user }
clusters:
  - name: windlass-$cluster_name
    cluster:
      server: $api_url
      certificate-authority-data: $(base64 -w0 "$pki/ca.crt")
users:
  - name: $user
    user:
      client-certificate-data: $(base64 -w0 "$pki/$user.crt")
      client-key-data: $(base64 -w0 "$pki/$user.key")
YAML
  )
  mv "$file.new" "$file"
}

make_cluster_certificates() {
  local service=kubernetes.default.svc
  mkdir -p "$pki"
  chmod 700 "$pki"
  make_authority
  make_certificate apiserver /CN=kube-apiserver \
    "DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:$service,DNS:$service.cluster.local,IP:127.0.0.1,IP:$service_prefix.0.1,IP:$host_address"
  make_certificate apiserver-kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client
  make_certificate admin /O=system:masters/CN=admin
  make_certificate controller-manager /CN=system:kube-controller-manager
  make_certificate scheduler /CN=system:kube-scheduler
  make_certificate proxy /CN=system:kube-proxy
  make_kubeconfig "$kubeconfig" admin
  local user
  for user in controller-manager scheduler proxy; do
    make_kubeconfig "$pki/$user.kubeconfig" "$user"
  done
}

make_node_certificates() {
  make_certificate "node$1" "/O=system:nodes/CN=system:node:node$1" "DNS:node$1,IP:$(node_address "$1")"
  make_kubeconfig "$pki/node$1.kubeconfig" "node$1"
}

# shellcheck shell=bash
# etcd, the API server, the controller manager and the scheduler, as processes of the host.
# Sourced. Settings differ from Kubernetes' defaults only where a test machine needs it; the comment says why.

start_etcd() {
  # No fsync: the data is worth nothing after a crash of the machine, and tests share the disk.
  start_process etcd "$(program_dir etcd)/etcd" --name dev --data-dir "$cluster_dir/etcd" --unsafe-no-fsync \
    --listen-client-urls "$etcd_url" --advertise-client-urls "$etcd_url" \
    --listen-peer-urls "http://127.0.0.1:$etcd_peer_port" \
    --initial-advertise-peer-urls "http://127.0.0.1:$etcd_peer_port" \
    --initial-cluster "dev=http://127.0.0.1:$etcd_peer_port" --log-level warn
}

start_apiserver() {
  # Bound to the bridge, which nodes, pods and the host reach but no other machine does.
  # Pods leave a lost node after 30 s instead of 300 s, so that tests of it end.
  start_process apiserver "$(program_dir kubernetes)/kube-apiserver" \
    --etcd-servers "$etcd_url" \
    --bind-address "$host_address" --advertise-address "$host_address" --secure-port "$api_port" \
    --service-cluster-ip-range "$service_prefix.0.0/16" \
    --client-ca-file "$pki/ca.crt" --tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key" \
    --kubelet-client-certificate "$pki/apiserver-kubelet-client.crt" \
    --kubelet-client-key "$pki/apiserver-kubelet-client.key" --kubelet-preferred-address-types InternalIP \
    --service-account-issuer https://kubernetes.default.svc \
    --service-account-key-file "$pki/service-account.key" \
    --service-account-signing-key-file "$pki/service-account.key" \
    --authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction \
    --max-requests-inflight 800 --max-mutating-requests-inflight 400 \
    --default-not-ready-toleration-seconds 30 --default-unreachable-toleration-seconds 30
}

start_controller_manager() {
  # A silent node is NotReady after 16 s: four missed renewals of its lease (node.sh), against 40 s by default.
  start_process controller-manager "$(program_dir kubernetes)/kube-controller-manager" \
    --kubeconfig "$pki/controller-manager.kubeconfig" --bind-address 127.0.0.1 \
    --secure-port "$controller_manager_port" --leader-elect=false \
    --cluster-signing-cert-file "$pki/ca.crt" --cluster-signing-key-file "$pki/ca.key" --root-ca-file "$pki/ca.crt" \
    --service-account-private-key-file "$pki/service-account.key" --use-service-account-credentials \
    --allocate-node-cidrs=false --node-monitor-period 2s --node-monitor-grace-period 16s \
    --kube-api-qps 200 --kube-api-burst 400
}

start_scheduler() {
  start_process scheduler "$(program_dir kubernetes)/kube-scheduler" \
    --kubeconfig "$pki/scheduler.kubeconfig" --bind-address 127.0.0.1 --secure-port "$scheduler_port" \
    --leader-elect=false --kube-api-qps 200 --kube-api-burst 400
}

apiserver_ready() {
  curl --silent --fail --noproxy '*' --cacert "$pki/ca.crt" --max-time 2 "$api_url/readyz"
}

start_store() {
  start_etcd
  start_apiserver
}

# The controller manager ends where the API server is not there within ten seconds; a loaded machine takes longer.
start_controllers() {
  start_controller_manager
  start_scheduler
}

control_plane_processes=(scheduler controller-manager apiserver etcd)

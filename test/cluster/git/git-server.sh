#!/bin/sh
# The program of the pod of a git server: site.git over HTTPS with a password on 8443, over SSH with a key on 2222, and
# without either over HTTP on 8080. /keys has the Secret of the test, and /srv is writable.
set -eu
export HOME=/srv GIT_CONFIG_GLOBAL=/srv/gitconfig
mkdir -p /srv/tmp /srv/ssh
git init --quiet --bare --initial-branch=main /srv/site.git
git -C /srv/site.git config http.receivepack true
git clone --quiet /srv/site.git /srv/tmp/site
cd /srv/tmp/site
git checkout --quiet -b main
printf 'one\n' >a.txt
mkdir sub && printf 'two\n' >sub/b.txt
git -c user.name=s -c user.email=s@x add --all
git -c user.name=s -c user.email=s@x commit --quiet --message first
git push --quiet origin main
git checkout --quiet -b hostile
ln -s /etc/passwd out
git -c user.name=s -c user.email=s@x add --all
git -c user.name=s -c user.email=s@x commit --quiet --message hostile
git push --quiet origin hostile

# The address of the pod is known here first; the authority of the test vouches for it.
openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=site -keyout /srv/tls.key -out /srv/tls.csr 2>/dev/null
printf 'subjectAltName=IP:%s\n' "$POD_IP" >/srv/tls.ext
openssl x509 -req -in /srv/tls.csr -CA /keys/authority.crt -CAkey /keys/authority.key -CAcreateserial -CAserial /srv/tls.srl \
  -days 1 -extfile /srv/tls.ext -out /srv/tls.crt 2>/dev/null
install -m 600 /keys/ssh-host /srv/ssh/host
install -m 600 /keys/ssh-user.pub /srv/ssh/authorized
cat >/srv/ssh/config <<END
Port 2222
HostKey /srv/ssh/host
AuthorizedKeysFile /srv/ssh/authorized
PasswordAuthentication no
StrictModes no
UsePAM no
PidFile none
END
cat >/srv/nginx.conf <<END
daemon off;
pid /srv/tmp/nginx.pid;
error_log stderr;
events {}
http {
  access_log /dev/stdout;
  client_body_temp_path /srv/tmp; proxy_temp_path /srv/tmp; fastcgi_temp_path /srv/tmp;
  uwsgi_temp_path /srv/tmp; scgi_temp_path /srv/tmp;
  client_max_body_size 0;
  fastcgi_param SCRIPT_FILENAME /usr/lib/git-core/git-http-backend;
  fastcgi_param GIT_PROJECT_ROOT /srv;
  fastcgi_param GIT_HTTP_EXPORT_ALL "";
  fastcgi_param PATH_INFO \$uri;
  fastcgi_param QUERY_STRING \$query_string;
  fastcgi_param REQUEST_METHOD \$request_method;
  fastcgi_param CONTENT_TYPE \$content_type;
  fastcgi_param HTTP_CONTENT_ENCODING \$http_content_encoding;
  fastcgi_param HTTP_GIT_PROTOCOL \$http_git_protocol;
  fastcgi_param REMOTE_USER \$remote_user;
  server { listen 8080; location / { fastcgi_pass unix:/srv/tmp/cgi; } location /away { return 302 http://169.254.169.254\$request_uri; } }
  server {
    listen 8443 ssl;
    ssl_certificate /srv/tls.crt; ssl_certificate_key /srv/tls.key;
    auth_basic git; auth_basic_user_file /keys/htpasswd;
    location / { fastcgi_pass unix:/srv/tmp/cgi; }
  }
}
END
/usr/sbin/sshd -D -e -f /srv/ssh/config &
fcgiwrap -c 2 -s unix:/srv/tmp/cgi &
exec nginx -c /srv/nginx.conf

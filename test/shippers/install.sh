#!/bin/sh
# Unpacks rsyslog, syslog-ng and what they need from Debian's packages into .shippers, and logmatic-python from PyPI
# into a virtual environment there. Nothing of the system is changed.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p .shippers
cd .shippers
if [ ! -x root/usr/sbin/syslog-ng ] || [ ! -x root/usr/sbin/rsyslogd ]; then
  apt-get update -qq || true
  apt-get download -qq rsyslog rsyslog-gnutls libestr0 libfastjson4 liblognorm5 \
    syslog-ng-core libivykis0 libnet1 libjson-c5 libwrap0 libpcre3 2>/dev/null
  for package in *.deb; do dpkg -x "$package" root; done
fi
if [ ! -x python/bin/python ]; then
  python3 -m venv python
  python/bin/pip install -q 'logmatic-python==0.1.7' 'python-json-logger==2.0.7'
fi

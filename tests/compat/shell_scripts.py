# SPDX-License-Identifier: Apache-2.0
#
# Commands for Apache's shell beside ours (tests/cli), and on a Java server beside ours (zkcli_test.py): one session
# for each script, one after the other on the same server. Every command is here with its flags, and with what it does
# not understand. Not here: what ends the Java shell with an exception, and what it prints only sometimes (docs/cli.md,
# "Differences from ZooKeeper's shell").


def lines(text):
    return [line.strip() for line in text.strip().splitlines()]


SCRIPTS = {
    "nodes": lines("""
        ls /
        create /a hello
        create /a again
        create /a/b "two words"
        create /a/c 'it is "quoted"'
        create /a/empty ''
        create /a/empty2 ""
        get /a/empty
        create /none/kid x
        create -s /a/s- seq
        create -s /a/s- seq
        create -e /eph mine
        create /eph/kid x
        create -c /container
        create -t 100000 /ttl data
        create -s -t 100000 /ttls- data
        create -s -e /a/se- both
        create -se /a/se- both
        create /null
        get /a
        get -s /a
        get /a/b
        get /a/c
        get /null
        get -s /null
        get /nosuch
        stat /a
        stat /eph
        stat /nosuch
        ls -s /a
        ls -R /
        ls -R /a
        ls -R /nosuch
        ls /nosuch
        set /a changed
        set -s /a again
        set -v 0 /a wrong
        set -v 2 /a right
        set -v -1 /a any
        set /nosuch x
        getEphemerals
        getEphemerals /eph
        getEphemerals /a
        getEphemerals /nosuch
        getAllChildrenNumber /
        getAllChildrenNumber /a
        getAllChildrenNumber /nosuch
        delete -v 9 /a/b
        delete /a
        delete /a/b
        delete /nosuch
        delete /a/c 0
        deleteall /a -b 2
        deleteall /nosuch
        ls /
        sync /
        sync /nosuch
        version
        config
        config -s
        config -c
        whoami
        create /z x
        create /z/1 y
        create /z/2 y
        create /z/1/b y
        create /z/1/a y
        create /z/2/a y
        ls -R /z
        ls -sR /z
        ls -s -w /z
        deleteall /z
        """),
    "refused": lines("""
        create relative x
        create / x
        create /a//b x
        create /a/ x
        create /a/./b x
        create /a/../b x
        create -s /a/
        create /.. x
        get relative
        get /a/
        ls relative
        stat x
        set x y
        delete x
        deleteall x
        getAcl x
        setAcl x world:anyone:r
        sync x
        getAllChildrenNumber x
        getEphemerals x
        listquota x
        setquota -n 1 x
        removewatches x
        delete /zookeeper
        delete /
        create /zookeeper/mine x
        ls /zookeeper
        delete /zookeeper/mine
        create /日本 ключ
        get /日本
        ls /
        delete /日本
        nosuchcommand
        NOSUCH -x
        LS /
        create
        create -q /x
        create -t
        create -t 5
        create -t ten /x
        create -t 0 /x
        create -t -5 /x
        create -t 9223372036854775807 /x
        create -c -e /x
        create -c -s /x
        create -e -t 5 /x
        create -c -t 5 /x
        create --foo /x
        create -es
        get
        get -q /a
        get -sq /a
        get --watch /a
        ls
        ls -R
        ls -l /
        ls -? /
        ls -?
        ls -s=1 /
        set -v=0 /nosuch x
        set -v0 /nosuch x
        create -t=5
        get -s -s /zookeeper
        get '/nosuch x'
        getAcl '"/"'
        stat "/zookeeper
        create -e
        deleteall -b -5 /nosuch
        config x y
        printwatches on off
        stat
        stat -s /
        set
        set /a
        set -v
        set -v 1
        delete
        delete -v
        delete -q /a
        deleteall
        deleteall -b x /a
        deleteall -b
        getAcl
        getAcl -q /
        setAcl
        setAcl /a
        setAcl -x /a world:anyone:r
        addauth
        addWatch
        addWatch -m NONSENSE /a
        addWatch /a /b
        addWatch -m
        removewatches
        removewatches -x /
        listquota
        listquota -x /
        setquota
        setquota /a
        setquota -n /a
        setquota -n 1
        setquota -n 1 -b 2 /a
        setquota -q /a
        delquota
        delquota -n -b /a
        delquota -z /a
        sync
        sync -f /
        version 1
        config -z
        reconfig
        reconfig -v zz -remove 1
        reconfig -remove 1 -members server.1=x
        reconfig -file /nosuch -members server.1=x
        reconfig -add
        reconfig -q
        getAllChildrenNumber
        getAllChildrenNumber -x /
        getEphemerals -x
        get / watch
        ls / watch
        stat / watch
        get -- /nosuch
        get -s -- /zookeeper
        whoami -x --what
        close-x
        a"b c"
        "ls" '/'
        ls /  /
        """),
    "acls": lines("""
        create /open data
        getAcl /open
        setAcl /open world:anyone:r
        getAcl -s /open
        set /open x
        create /open/kid x
        setAcl -s /open world:anyone:cdrwa
        setAcl /open world:anyone:cdrwaq
        setAcl /open nonsense
        setAcl /open world:anyone:cdrwa,nonsense
        setAcl /open ,,
        addauth digest ann:apple
        whoami
        create /mine secret auth::cdrwa
        getAcl /mine
        create /digest x digest:bob:hash:rw,world:anyone:r
        getAcl /digest
        set /digest y
        get /digest
        create /bad x nosuch:x:r
        create /bad x world:bob:r
        create /bad x nonsense
        create /bad x ''
        create /ip x ip:127.0.0.1:cdrwa
        getAcl /ip
        create /tree
        create /tree/kid
        setAcl -R /tree world:anyone:cdra
        getAcl /tree/kid
        setAcl -R -v 7 /tree world:anyone:r
        setAcl -v 7 /tree world:anyone:r
        setAcl -R /nosuch world:anyone:r
        setAcl /nosuch world:anyone:r
        getAcl /nosuch
        set /tree x
        addauth digest super:admin
        deleteall /tree
        get /zookeeper/config
        config
        reconfig -remove 1
        reconfig -add server.2=localhost:1:2;3
        deleteall /open
        deleteall /mine
        deleteall /digest
        deleteall /ip
        """),
    "quotas": lines("""
        create /q data
        setquota -n 3 /q
        listquota /q
        create /q/a 12345
        create /q/b
        create /q/c
        listquota /q
        setquota -n 2 /q
        setquota -b 10 /q
        setquota -b 5 /q
        setquota -N 5 /q
        setquota -B 100 /q
        setquota -N 2 /q
        setquota -B 2 /q
        listquota /q
        ls -R /zookeeper
        delquota -n /q
        listquota /q
        delquota -N /q
        listquota /q
        delquota /q
        delquota /q
        delquota -b /q
        listquota /q
        setquota -n 1 /nosuch
        setquota -n 0 /q
        setquota -n x /q
        setquota -b -1 /q
        setquota -b x /q
        setquota -N -5 /q
        setquota -B -5 /q
        setquota -n 1 /q/a
        setquota -n 1 /q
        create /q/a/x
        setquota -n 1 /q/a/x
        delquota /q/a
        ls -R /zookeeper
        setquota -n 1 /zookeeper/quota
        setquota -n 1 /
        listquota /
        deleteall /q
        """),
    "watches": lines("""
        create /w
        get -w /w
        ls -w /w
        stat -w /later
        set /w 1
        set /w 2
        create /w/kid
        create /later
        addWatch -m PERSISTENT /p
        create /p
        set /p x
        set /p x
        create /p/kid
        delete /p/kid
        removewatches /p
        removewatches /p
        removewatches /p -l
        addWatch -m persistent_recursive /r
        create /r
        create /r/one
        create /r/one/two
        get -w /r/one/two
        set /r/one/two x
        deleteall /r
        removewatches /r -a
        get -w /w
        ls -w /w
        stat -w /w
        removewatches /w -d
        set /w 3
        removewatches /w -d
        removewatches /w -c
        removewatches /w -c
        get -w /nosuch
        removewatches /nosuch
        get -w /w
        ls -w /w
        removewatches /w
        get -w /w
        ls -w /w
        deleteall /w
        ls -R -w /later
        create /later/kid
        delete /later/kid
        delete /later
        config -w
        delete /p
        """) + ["ls /"] * 20,  # Events are printed by another thread, which `quit` does not wait for.
}

# Commands that need an ensemble; both shells use the same one.
ENSEMBLE_SCRIPT = lines("""
    config
    config -c
    config -s -c
    sync /
    reconfig -remove 3
    reconfig -members server.1=localhost:1:2;3
    reconfig -v 5 -add server.9=localhost:1:2;3
    """)

# Scripts about the shell itself. They count lines, so there can be no marks between them.
WHOLE_SCRIPTS = {
    "history": lines("""
        create /h 1
        history
        redo 0
        redo 1
        redo 99
        redo -1
        redo 0x0
        redo
        get /h
        redo 8
        redo 2
        history
        printwatches
        printwatches off
        printwatches
        get -w /h
        set /h 2
        printwatches on
        printwatches x
        printwatches
        delete /h

        history
        """),
    "close": lines("""
        create -e /e
        close
        ls /
        history
        close
        printwatches
        version
        quit
        """),
    "connect": lines("""
        create -e /e
        connect
        ls /
        getEphemerals
        nosuch
        quit
        """),
    "blank": ["ls /", "  ", " ls  / ", "", "\"ls /\"", "get /nosuch"],
}

# One shell each: for the exit codes.
ONE_SHOTS = [["ls", "/"], ["get", "/nosuch"], ["create", "/one", "two words"], ["get", "-s", "/one"], ["nosuch"], ["ls"],
             ["set", "-v", "5", "/one", "x"], ["deleteall", "/one"], ["history"]]

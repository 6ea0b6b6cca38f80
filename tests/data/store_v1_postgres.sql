CREATE TABLE blobs (
	digest VARCHAR(64) NOT NULL, 
	size BIGINT NOT NULL, 
	packed BYTEA NOT NULL, 
	PRIMARY KEY (digest)
);
CREATE TABLE experiments (
	seq BIGSERIAL NOT NULL, 
	id TEXT NOT NULL, 
	skill TEXT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	settings TEXT NOT NULL, 
	created_at VARCHAR(40) NOT NULL, 
	finished_at VARCHAR(40), 
	verdict TEXT, 
	report TEXT, 
	PRIMARY KEY (seq), 
	UNIQUE (id)
);
CREATE INDEX ix_experiments_fingerprint ON experiments (fingerprint);
CREATE TABLE openings (
	seq BIGSERIAL NOT NULL, 
	fingerprint TEXT NOT NULL, 
	experiment TEXT NOT NULL, 
	skill TEXT NOT NULL, 
	why TEXT NOT NULL, 
	at VARCHAR(40) NOT NULL, 
	PRIMARY KEY (seq), 
	UNIQUE (fingerprint, experiment, why)
);
CREATE TABLE skillevo_meta (
	key VARCHAR(40) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (key)
);
CREATE TABLE snapshots (
	digest VARCHAR(64) NOT NULL, 
	PRIMARY KEY (digest)
);
CREATE TABLE journal (
	seq BIGSERIAL NOT NULL, 
	experiment TEXT NOT NULL, 
	key TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	payload TEXT NOT NULL, 
	PRIMARY KEY (seq), 
	UNIQUE (experiment, key), 
	FOREIGN KEY(experiment) REFERENCES experiments (id)
);
CREATE INDEX journal_in_order ON journal (experiment, seq);
CREATE TABLE revisions (
	seq BIGSERIAL NOT NULL, 
	id VARCHAR(40) NOT NULL, 
	skill TEXT NOT NULL, 
	action VARCHAR(20) NOT NULL, 
	source TEXT NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	parent_digest VARCHAR(64) NOT NULL, 
	parent VARCHAR(40), 
	status VARCHAR(20) NOT NULL, 
	created_at VARCHAR(40) NOT NULL, 
	promoted_at VARCHAR(40), 
	evidence TEXT NOT NULL, 
	PRIMARY KEY (seq), 
	UNIQUE (id), 
	FOREIGN KEY(digest) REFERENCES snapshots (digest), 
	FOREIGN KEY(parent_digest) REFERENCES snapshots (digest), 
	FOREIGN KEY(parent) REFERENCES revisions (id)
);
CREATE UNIQUE INDEX one_active_revision ON revisions (skill) WHERE status = 'active';
CREATE INDEX revisions_in_status ON revisions (status, seq);
CREATE INDEX revisions_of_skill ON revisions (skill, seq);
CREATE TABLE snapshot_files (
	snapshot VARCHAR(64) NOT NULL, 
	path TEXT NOT NULL, 
	blob VARCHAR(64) NOT NULL, 
	PRIMARY KEY (snapshot, path), 
	FOREIGN KEY(snapshot) REFERENCES snapshots (digest), 
	FOREIGN KEY(blob) REFERENCES blobs (digest)
);
CREATE TABLE audit (
	seq BIGSERIAL NOT NULL, 
	at VARCHAR(40) NOT NULL, 
	skill TEXT NOT NULL, 
	revision VARCHAR(40) NOT NULL, 
	before VARCHAR(20), 
	after VARCHAR(20) NOT NULL, 
	actor TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	PRIMARY KEY (seq), 
	FOREIGN KEY(revision) REFERENCES revisions (id)
);
CREATE INDEX audit_of_revision ON audit (revision, seq);
CREATE TABLE intents (
	skill TEXT NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	target VARCHAR(40) NOT NULL, 
	replaced VARCHAR(40) NOT NULL, 
	folder TEXT NOT NULL, 
	actor TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	PRIMARY KEY (skill), 
	FOREIGN KEY(target) REFERENCES revisions (id), 
	FOREIGN KEY(replaced) REFERENCES revisions (id)
);
CREATE TABLE pointers (
	skill TEXT NOT NULL, 
	revision VARCHAR(40) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	moved_at VARCHAR(40) NOT NULL, 
	PRIMARY KEY (skill), 
	FOREIGN KEY(revision) REFERENCES revisions (id)
);
INSERT INTO skillevo_meta (key, value) VALUES ('schema_version', '1');

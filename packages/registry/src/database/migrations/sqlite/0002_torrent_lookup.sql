alter table file add column public_req2_hash text;

create index file_of_public_info_hash on file (public_info_hash) where public_info_hash is not null;
create index file_of_public_req2_hash on file (public_req2_hash) where public_req2_hash is not null;

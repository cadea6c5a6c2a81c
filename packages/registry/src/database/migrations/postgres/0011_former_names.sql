-- Names that models had before they were renamed. Each leads to its model until another model takes it.
create table former_name (
  name text collate "C" primary key,
  model_id text collate "C" not null references model (id) on delete cascade,
  renamed_at text collate "C" not null
);
create index former_name_of_model on former_name (model_id, renamed_at);

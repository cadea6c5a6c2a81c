type Options = {
  directory: string
  fsid: string
  /** The ports of the gateway and of the monitor. */
  port: number
  monitorPort: number
  /** The capacity of the object store. */
  memoryBytes: number
}

/**
 * How long the gateway may need to complete a multipart upload. A gateway that is killed while it completes one blocks
 * this upload for the same time, which is ten minutes by default.
 */
const completionTimeoutSeconds = 10

/**
 * Returns the configuration of a cluster of one monitor, one object store in memory and one gateway, all on loopback
 * (Ceph 16).
 */
export function cephConfiguration({ directory, fsid, port, monitorPort, memoryBytes }: Options) {
  return `[global]
fsid = ${fsid}
mon_initial_members = a
mon_host = [v2:127.0.0.1:${monitorPort}/0]
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
keyring = ${directory}/keyring
auth_allow_insecure_global_id_reclaim = false
run_dir = ${directory}/run
admin_socket = ${directory}/run/$name.$pid.asok
log_file = ${directory}/log/$name.log
crash_dir = ${directory}/run
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 4
osd_pool_default_pgp_num = 4
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_max_pg_per_osd = 2000
[mon]
paxos_propose_interval = 0.05
paxos_min_wait = 0.02
mon_osd_min_up_ratio = 0
mon_data = ${directory}/mon
mon_data_avail_crit = 1
mon_data_avail_warn = 1
[osd]
osd_data = ${directory}/osd
osd_objectstore = memstore
osd_class_update_on_start = true
memstore_device_bytes = ${memoryBytes}
[client.rgw]
rgw_frontends = beast endpoint=127.0.0.1:${port}
rgw_data = ${directory}/rgw
rgw_enable_usage_log = false
rgw_enable_ops_log = false
rgw_rados_pool_pg_num_min = 4
rgw_thread_pool_size = 64
rgw_dynamic_resharding = false
rgw_mp_lock_max_time = ${completionTimeoutSeconds}
`
}

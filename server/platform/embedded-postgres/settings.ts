/** 'none-for-tests' is for databases that are deleted after the test run. */
export type Durability = 'full' | 'none-for-tests'

/**
 * Settings of the embedded server, for its command line, so that they also apply to old data directories. For a small
 * machine shared with the service: little memory, few connections, full durability.
 */
export function serverSettings(options: {
  socketDir: string
  majorVersion: number
  durability: Durability
  moreConnections?: number
}): string[] {
  const settings: Record<string, string | number> = {
    // Connections only through a socket in a directory that only its owner can enter.
    listen_addresses: '',
    unix_socket_directories: quoteDirectory(options.socketDir),
    unix_socket_permissions: '0700',
    port: SOCKET_PORT,
    max_connections: 40 + (options.moreConnections ?? 0),
    superuser_reserved_connections: 2,

    shared_buffers: '96MB',
    work_mem: '8MB',
    maintenance_work_mem: '64MB',
    autovacuum_work_mem: '32MB',
    effective_cache_size: '512MB',
    huge_pages: 'off',
    // Compiling our queries takes longer than running them.
    jit: 'off',
    random_page_cost: 1.1,
    max_worker_processes: 2,
    max_parallel_workers_per_gather: 0,
    max_parallel_maintenance_workers: 0,
    max_logical_replication_workers: 0,

    // No replication, so that an idle server writes nothing.
    wal_level: 'minimal',
    max_wal_senders: 0,
    // The packaged builds have neither lz4 nor zstd.
    wal_compression: 'pglz',
    wal_buffers: '8MB',
    checkpoint_timeout: '15min',
    checkpoint_completion_target: 0.9,
    max_wal_size: '2GB',
    min_wal_size: '160MB',

    autovacuum_max_workers: 2,
    autovacuum_naptime: '30s',
    autovacuum_vacuum_cost_limit: 1000,
    // Rows of the spool and of counters change often: vacuum early, before their indexes grow.
    autovacuum_vacuum_scale_factor: 0.05,
    autovacuum_analyze_scale_factor: 0.05,
    autovacuum_vacuum_insert_scale_factor: 0.1,

    // The service reports errors of statements, with a request id and without user data.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    log_autovacuum_min_duration: -1,
    log_line_prefix: '',
    log_timezone: 'UTC',
    timezone: 'UTC',
    // A client that hangs in a transaction would block vacuum.
    idle_in_transaction_session_timeout: '5min',
    ...(options.majorVersion >= 18 ? { io_method: 'sync', autovacuum_worker_slots: 2 } : {}),
    ...(options.durability === 'full'
      ? { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' }
      : {
          fsync: 'off',
          synchronous_commit: 'off',
          full_page_writes: 'off',
          // Databases live for seconds, and its workers would visit each.
          autovacuum: 'off',
          shared_buffers: '64MB',
          max_connections: 200,
        }),
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** Names the socket file; no TCP port is opened. */
export const SOCKET_PORT = 5432

/** The value is a list, so a directory with a comma or space must be quoted. */
const quoteDirectory = (directory: string): string => `"${directory.replaceAll('"', '""')}"`

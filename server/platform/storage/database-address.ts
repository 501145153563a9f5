import pg from 'pg'

/** Host and port of a connection string, as the driver reads it. A host that begins with `/` is a socket's directory. */
export function databaseAddress(connectionString: string): { readonly host: string; readonly port: number } {
  const { host, port } = new pg.Client({ connectionString })
  return { host, port }
}

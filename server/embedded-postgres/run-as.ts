import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseStartError } from '../storage/database-start-error.ts'

/** Who PostgreSQL's processes run as; undefined where we are not root and they run as we do. */
export type RunAs = { uid: number; gid: number } | undefined

/**
 * Number of nobody's account, of our own choosing, for the database of an installation that root starts: shared with no
 * other service (unlike `nobody` or a system-wide `postgres`), and small enough to exist in containers that map 65,536
 * users.
 */
const dedicatedId = 64_818

export const isRoot = (): boolean => process.getuid?.() === 0

/** Root gives up its rights for the database: to the owner of existing data, else to the dedicated user. */
export function serverUser(clusterDir: string): RunAs {
  if (!isRoot()) return undefined
  if (existsSync(clusterDir)) {
    const { uid, gid } = statSync(clusterDir)
    if (uid !== 0) return { uid, gid }
  }
  return { uid: dedicatedId, gid: dedicatedId }
}

/** `initdb` alone insists on a user with a name; what it makes is handed to `serverUser` afterwards. */
export function initUser(): RunAs {
  if (!isRoot()) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name, , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ name, uid, gid }) => name && uid > 0 && gid > 0)
  const user = users.find(({ name }) => name === 'nobody') ?? users[0]
  if (!user) throw new DatabaseStartError('/etc/passwd names no user but root, and PostgreSQL refuses to run as root.')
  return { uid: user.uid, gid: user.gid }
}

/** Whether that user can enter a directory, or the nearest existing one above it. Asked of the system, not computed. */
export function canEnter(directory: string, user: RunAs): boolean {
  let existing = directory
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing)
  const answer = spawnSync('/bin/sh', ['-c', 'cd -- "$1"', 'sh', existing], {
    ...user,
    env: {},
    cwd: '/',
    stdio: 'ignore',
  })
  if (answer.error && user) throw cannotSwitch(answer.error)
  return answer.status === 0
}

/** A container or sandbox may have a root that cannot become anybody else. */
export const cannotSwitch = (cause: Error): DatabaseStartError =>
  new DatabaseStartError(
    `PostgreSQL refuses to run as root, and this root may not become another user (${cause.message}): ` +
      'start Faultline as an ordinary user, or set DATABASE_URL.',
    { cause },
  )

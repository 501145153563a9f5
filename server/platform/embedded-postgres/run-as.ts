import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseStartError } from '../storage/pool.ts'

/** The user of PostgreSQL's processes; undefined for our own user, when we are not root. */
export type RunAs = { uid: number; gid: number } | undefined

/**
 * User id without an account, for the database of an installation that root starts: no other service uses it (unlike
 * `nobody` or a system-wide `postgres`), and it exists in containers that map 65,536 users.
 */
const dedicatedId = 64_818

export const isRoot = (): boolean => process.getuid?.() === 0

/** For root: the owner of existing data, else the dedicated user. */
export function serverUser(clusterDir: string): RunAs {
  if (!isRoot()) return undefined
  if (existsSync(clusterDir)) {
    const { uid, gid } = statSync(clusterDir)
    if (uid !== 0) return { uid, gid }
  }
  return { uid: dedicatedId, gid: dedicatedId }
}

/** The user of `initdb`, which needs one with a name; its files are given to `serverUser` afterwards. */
export function initUser(): RunAs {
  if (!isRoot()) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name, , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ name, uid, gid }) => name && uid > 0 && gid > 0)
  const user = users.find(({ name }) => name === 'nobody') ?? users[0]
  if (!user)
    throw new DatabaseStartError(
      'PostgreSQL refuses to run as root, and /etc/passwd has no other user: add one, or set DATABASE_URL.',
    )
  return { uid: user.uid, gid: user.gid }
}

/**
 * Whether a user can enter a directory, or the nearest existing one above it; tries it instead of reading permissions.
 */
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

/** In some containers and sandboxes root cannot become another user. */
export const cannotSwitch = (cause: Error): DatabaseStartError =>
  new DatabaseStartError(
    `PostgreSQL refuses to run as root, and this root may not become another user (${cause.message}): ` +
      'start Faultline as an ordinary user, or set DATABASE_URL.',
    { cause },
  )

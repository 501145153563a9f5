import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { DatabaseStartError } from '../storage/pool.ts'
import { canEnter, serverUser } from './run-as.ts'

/**
 * Chooses the data directory. The database of root runs as another user, who may be unable to enter a home directory:
 * then the default moves to /var/lib, and an explicit directory is refused.
 * @param wanted absolute path
 * @returns the directory to use, and a note for the start line when it is not the wanted one
 * @throws DatabaseStartError when an explicit directory cannot be entered by the database's user
 */
export function chooseDataDir(wanted: string, isExplicit: boolean): { dataDir: string; note?: string } {
  const user = serverUser(join(wanted, 'postgres'))
  if (canEnter(wanted, user)) return { dataDir: wanted }
  if (isExplicit || !user) {
    throw new DatabaseStartError(
      `FAULTLINE_DATA_DIR ${wanted} cannot be entered by the database's user (${user?.uid ?? 'you'}): choose a ` +
        'directory it can enter, or let it enter the directories above (chmod o+x).',
    )
  }
  const place = dirname(wanted)
  const hash = createHash('sha256').update(place).digest('hex').slice(0, 16)
  const dataDir = `/var/lib/faultline/${hash}`
  return { dataDir, note: `data in ${dataDir}, because the database's user cannot enter ${place}` }
}

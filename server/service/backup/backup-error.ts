import { DatabaseStartError, isDatabaseAway } from '../../platform/storage/pool.ts'

/** A backup or restore that cannot be done. The message is one line that tells the operator what to do. */
export class BackupError extends DatabaseStartError {
  override name = 'BackupError'
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full. Free some space, or name a folder on another disk',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'this user may not read or write there',
  EPERM: 'this user may not read or write there',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'it is not a folder',
  EIO: 'the disk reports an error',
}

/** Explains a failed file operation in the folder of backups. Returns other errors unchanged. */
export function explainFolderError(error: unknown, folder: string): unknown {
  if (error instanceof BackupError || !(error instanceof Error) || !('syscall' in error) || !('code' in error))
    return error
  const reason = REASONS[String(error.code)]
  if (reason === undefined) return error
  return new BackupError(
    `The backup folder ${folder} cannot be used: ${reason}. Backups that it holds are unchanged.`,
    {
      cause: error,
    },
  )
}

const LOCK_NOT_AVAILABLE = '55P03'

/** Explains a failed statement of a backup or restore. Returns other errors unchanged. */
export function explainDatabaseError(error: unknown): unknown {
  if (error instanceof BackupError || !(error instanceof Error)) return error
  if (isDatabaseAway(error))
    return new BackupError(`The database ended, or cannot be reached any more (${error.message}). Start this again.`, {
      cause: error,
    })
  return 'code' in error && error.code === LOCK_NOT_AVAILABLE
    ? new BackupError('Another process changes tables of the database right now. Start this again in a minute.', {
        cause: error,
      })
    : error
}

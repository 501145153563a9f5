import { S3_ADDRESS, type S3Settings } from '../../config/object-store.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import { BackupError } from './backup-error.ts'
import type { BackupPlace } from './backup-place.ts'
import { bucketPlace } from './bucket-place.ts'
import { folderPlace } from './folder-place.ts'

/**
 * @param given a folder, or `s3://bucket/prefix`
 * @throws BackupError for an address that cannot be used
 */
export function openPlace(
  given: string,
  { s3, clock, signal }: { readonly s3: S3Settings | null; readonly clock: Clock; readonly signal: AbortSignal },
): BackupPlace {
  if (!given.startsWith('s3:')) return folderPlace(given)
  if (s3 === null)
    throw new BackupError(`${given} needs S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY, the key of the store.`)
  if (!S3_ADDRESS.test(given))
    throw new BackupError(`${given} must be s3://bucket/prefix, of letters, digits, dots, hyphens and underscores.`)
  return bucketPlace(given, s3, { clock, signal })
}

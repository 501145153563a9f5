import { existsSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Config } from '../../config/config.ts'
import { verifySmtp } from '../../platform/mails/smtp-mailer.ts'
import { type Finding, note, ok, problem, reasonText } from './finding.ts'

const ANSWER_MS = 5_000
const Healthy = z.object({ ok: z.literal(true) })

/** Asks the public address whether this service answers there. */
export async function checkPublicAddress({ publicUrl }: Config): Promise<Finding> {
  const part = 'public address'
  try {
    const answer = await fetch(`${publicUrl}/healthz`, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) })
    const body: unknown = await answer.json().catch(() => null)
    if (answer.ok && Healthy.safeParse(body).success) return ok(part, `the service answers at ${publicUrl}`)
    return problem(
      part,
      `${publicUrl}/healthz answers ${answer.status}, and not as this service does. Look at the proxy in front, or correct PUBLIC_URL.`,
    )
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    return problem(
      part,
      `Nothing answers at ${publicUrl} (${reasonText(cause)}). Start the service, or correct PUBLIC_URL, the name in DNS or the certificate.`,
    )
  }
}

/** Connects to the mail server and logs in. Null without one. */
export async function checkMail({ smtpUrl }: Config): Promise<Finding | null> {
  if (smtpUrl === null) return null
  try {
    await verifySmtp(smtpUrl)
    return ok('mail', 'the mail server accepts the log-in')
  } catch (error) {
    return problem('mail', `The mail server of SMTP_URL cannot be used: ${reasonText(error)}.`)
  }
}

const GB = 1e9

/** Free space where the data folder is. The intake refuses events below a twentieth, at most 1 GiB. */
export async function checkDisk(dataDir: string): Promise<Finding> {
  const part = 'disk'
  const { bavail, blocks, bsize } = await statfs(dataDir)
  const share = bavail / Math.max(1, blocks)
  const text = `${((bavail * bsize) / GB).toFixed(1)} GB (${Math.floor(share * 100)} %) are free in ${dataDir}`
  if (share < 0.1 && bavail * bsize < 20 * GB)
    return problem(
      part,
      `Only ${text}. Free some space, or shorten the retention of projects, before events are refused.`,
    )
  return share < 0.2 && bavail * bsize < 50 * GB ? note(part, `${text}. Plan for more.`) : ok(part, text)
}

/** Files with keys must be for their owner only. */
export function checkKeyFile(dataDir: string): Finding | null {
  const file = join(dataDir, 'keys', 'encryption-keys')
  if (!existsSync(file) || (statSync(file).mode & 0o077) === 0) return null
  return problem('keys', `Other users of this machine may read ${file}. Run: chmod 600 ${file}`)
}

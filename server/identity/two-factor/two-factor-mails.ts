import { accountNotice, type Receiver } from '../auth/account-facts.ts'
import type { App } from '../../platform/context/app.ts'
import type { QueuedMail } from '../../platform/mails/enqueue-mails.ts'
import { FEW_BACKUP_CODES } from './backup-codes.ts'

export const enrolledMail = (app: App, user: Receiver): QueuedMail =>
  accountNotice(app, user, {
    type: 'mfa.totp.enrolled',
    subject: 'Two-factor authentication is on',
    what: 'Two-factor authentication was turned on: your log-in now asks for a code of your authenticator app. All other sessions were ended. Keep your backup codes in a safe place; each of them replaces the app once.',
  })

export const disabledMail = (app: App, user: Receiver, byOperator: boolean): QueuedMail =>
  accountNotice(app, user, {
    type: 'mfa.totp.disabled',
    subject: 'Two-factor authentication is off',
    what: byOperator
      ? 'The operator of this installation turned off two-factor authentication of your account and ended all its sessions: your log-in asks for the password only. Turn it on again in your security settings.'
      : 'Two-factor authentication was turned off: your log-in asks for the password only. All other sessions were ended.',
  })

export const newCodesMail = (app: App, user: Receiver): QueuedMail =>
  accountNotice(app, user, {
    type: 'mfa.backup_codes.generated',
    subject: 'You have new backup codes',
    what: 'New backup codes were created. The old ones no longer work.',
  })

export const codeUsedMail = (app: App, user: Receiver, left: number): QueuedMail =>
  accountNotice(app, user, {
    type: 'mfa.backup_code.used',
    subject: 'A backup code was used',
    what: `One of your backup codes was used to log in; ${left} ${left === 1 ? 'is' : 'are'} left.${left > FEW_BACKUP_CODES ? '' : ' Create new ones in your security settings.'}`,
  })

export const wrongCodesMail = (app: App, user: Receiver, attempts: number): QueuedMail =>
  accountNotice(app, user, {
    type: 'mfa.failed',
    subject: 'Wrong codes for your Faultline account',
    what: `Your right password was sent with a wrong code more than ${attempts} times within 15 minutes. Further codes are refused for the rest of that time.`,
  })

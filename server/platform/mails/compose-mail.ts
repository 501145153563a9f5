import type { Mail } from '../context/mail.ts'

/**
 * The options of nodemailer for a mail. Addresses are objects, because a text would be parsed as a list; files and URLs
 * are never read.
 */
export const toMailOptions = ({ to, subject, text, html, unsubscribeUrl }: Mail, from: string, date: Date) => ({
  from,
  to: { name: '', address: to },
  subject,
  text,
  html,
  date,
  // Vacation notices must not answer.
  headers: {
    'Auto-Submitted': 'auto-generated',
    ...(unsubscribeUrl === undefined
      ? {}
      : {
          'List-Unsubscribe': { prepared: true, value: `<${unsubscribeUrl}>` },
          'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
        }),
  },
  disableFileAccess: true,
  disableUrlAccess: true,
})

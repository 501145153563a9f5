import type { Mail } from '../context/mail.ts'

/**
 * The options of nodemailer for a mail. Addresses are objects, because a text would be parsed as a list; files and URLs
 * are never read.
 */
export const toMailOptions = ({ to, subject, text, html, unsubscribeUrl }: Mail, from: string, date: Date) => ({
  from,
  to: { name: '', address: to },
  ...(subject.includes('=?') ? {} : { subject }),
  text,
  html,
  date,
  // Vacation notices must not answer.
  headers: {
    'Auto-Submitted': 'auto-generated',
    ...(subject.includes('=?') ? { Subject: { prepared: true, value: toEncodedWords(subject) } } : {}),
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

/** Bytes of one encoded word, which with its line must not exceed 76 characters. */
const MAX_WORD_BYTES = 36

/**
 * Encodes a text for a header (RFC 2047). Mail programs decode what looks like an encoded word, so a text that has one,
 * such as a name that a user chose, must be encoded as a whole to arrive unchanged.
 */
function toEncodedWords(text: string): string {
  const words: string[] = []
  let word = ''
  for (const character of text.toWellFormed()) {
    if (Buffer.byteLength(word + character) > MAX_WORD_BYTES) {
      words.push(word)
      word = ''
    }
    word += character
  }
  return [...words, word].map((one) => `=?UTF-8?B?${Buffer.from(one).toString('base64')}?=`).join('\r\n ')
}

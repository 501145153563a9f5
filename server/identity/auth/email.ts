import { domainToASCII } from 'node:url'

/** The stored form of an address: one account per address, in any case. */
export const foldEmail = (email: string): string => email.trim().normalize('NFC').toLowerCase()

/** The domain of an address in the form that the DNS knows; null when it is none. */
export const emailDomain = (email: string): string | null => asciiDomain(email.slice(email.lastIndexOf('@') + 1))

const NAME = /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** A host name of at least two labels, in lower case and ASCII; null when it is none. */
export function asciiDomain(text: string): string | null {
  const domain = domainToASCII(text.trim().replace(/\.$/, '')).toLowerCase()
  return NAME.test(domain) && !/\.\d+$/.test(domain) ? domain : null
}

let list: Promise<ReadonlySet<string>> | null = null

/**
 * Whether the password is one of the 49,233 most common (the offline list of zxcvbn), in any case.
 * The list is unpacked at the first call: 22 ms and 4 MB nobody pays who never sets a password.
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  list ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'].filter((word) => word.length >= 8)),
  )
  return (await list).has(password.toLowerCase())
}

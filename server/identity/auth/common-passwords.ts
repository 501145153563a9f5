let list: Promise<ReadonlySet<string>> | null = null

/**
 * Whether the password is one of the 49,233 most common (the offline list of zxcvbn), in any case.
 * The first call unpacks the list (22 ms, 4 MB).
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  list ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'].filter((word) => word.length >= 8)),
  )
  return (await list).has(password.toLowerCase())
}

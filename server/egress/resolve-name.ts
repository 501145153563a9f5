import { lookup } from 'node:dns/promises'

/** All addresses of a name, in the order to try them. @throws the error of the resolver, such as ENOTFOUND */
export type ResolveName = (name: string) => Promise<string[]>

/** The resolver of the system, with /etc/hosts. */
export const resolveBySystem: ResolveName = async (name) =>
  (await lookup(name, { all: true, order: 'verbatim' })).map(({ address }) => address)

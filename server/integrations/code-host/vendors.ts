import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import type { Provider } from './code-host.api.ts'
import type { Vendor } from './vendor.ts'

const VENDORS: Readonly<Record<Provider, Vendor>> = { github, gitlab }

export const findVendor = (provider: Provider): Vendor => VENDORS[provider]

/** The provider whose public service this is; undefined for a self-managed one. */
export const publicProvider = (host: string): Provider | undefined =>
  Object.values(VENDORS).find(({ publicHost }) => publicHost === host)?.provider

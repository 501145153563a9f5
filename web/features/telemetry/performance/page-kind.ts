import type { Performance } from '../../../api/performance-queries.ts'
import { VITAL_NAMES } from './model.ts'

/** Which performance page a project has. Pure. */

/** Whether projects of a platform are apps on phones and tablets. The others are pages, servers, or both. */
export const isMobilePlatform = (platform: string): boolean => platform !== 'web'

type PageKind = 'mobile' | 'web' | 'server'

/** Projects for the web and for servers have one platform: their data tells them apart. */
export function pageKind(platform: string, data: Performance): PageKind {
  if (isMobilePlatform(platform)) return 'mobile'
  if (VITAL_NAMES.some((name) => data.web_vitals[name].count > 0) || (data.screens ?? []).some(isPage)) return 'web'
  if (data.cold_start.count + data.warm_start.count + data.frames.total > 0) return 'mobile'
  return data.requests.count > 0 ? 'server' : 'web'
}

const isPage = ({ op }: { readonly op: string }): boolean => op === 'pageload' || op === 'navigation'

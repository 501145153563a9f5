import { useQuery } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { errorSentence } from '../api/change.ts'
import { meQuery } from '../api/queries.ts'
import { enterOtherOrg } from '../api/session.ts'
import type { MenuEntry } from '../ui/menu.tsx'
import { addToast } from '../ui/toasts.tsx'
import { forgetRecents } from './recents.ts'
import { appTexts } from './texts.ts'

/** The organisations of the user as entries of a menu; none for a user of only one. */
export function useOrgEntries(): MenuEntry[] {
  const me = useQuery(meQuery)
  if (me.data === undefined || me.data.memberships.length < 2) return []
  const { org: current, memberships } = me.data
  const enter = async (slug: string) => {
    if (slug === current.slug) return
    try {
      await call('POST /api/auth/switch-org', { body: { org: slug } })
      forgetRecents()
      enterOtherOrg()
    } catch (error) {
      addToast({ text: `${appTexts.orgNotSwitched} ${errorSentence(error)}`, tone: 'bad' })
    }
  }
  return [
    { kind: 'heading', label: appTexts.organisations },
    // In a steady order: the service names the one used last first.
    ...memberships
      .toSorted((a, b) => a.org.name.localeCompare(b.org.name))
      .map(({ org, role }) => ({
        label: org.name,
        icon: 'org' as const,
        note: role,
        checked: org.id === current.id,
        onSelect: () => void enter(org.slug),
      })),
  ]
}

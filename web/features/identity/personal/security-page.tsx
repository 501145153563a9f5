import { getRouteApi } from '@tanstack/react-router'
import { SettingsHead } from '../../../frames/settings-frame.tsx'
import { ChatLinksCard } from './chat-links-card.tsx'
import { LinkedCard } from './linked-card.tsx'
import { PasskeysCard } from './passkeys-card.tsx'
import { PasswordCard } from './password-card.tsx'
import { TwoFactorCard } from './two-factor-card.tsx'
import { personalTexts } from './texts.ts'

const texts = personalTexts.security
const route = getRouteApi('/signed-in/shell/me/security')

/** How the user proves who they are. */
export function SecurityPage() {
  const { error, linked } = route.useSearch()
  return (
    <>
      <SettingsHead title={texts.title} of={null} lead={texts.lead} />
      <TwoFactorCard />
      <PasskeysCard />
      <LinkedCard error={error} linked={linked} />
      <ChatLinksCard />
      <PasswordCard />
    </>
  )
}

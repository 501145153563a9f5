import { MAX_API_KEYS } from '#shared/limits.ts'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiKeysQuery, type ApiKey, type NewApiKey } from '../../../api/team-queries.ts'
import { useKeys } from '../../../app/keys.ts'
import { GuideLink } from '../../../frames/guide-link.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import { SecretBox } from '../../../forms/secret-box.tsx'
import { SettingsHead } from '../../../frames/settings-frame.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { Minor } from '../../../ui/text.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { KeysTable } from './keys-table.tsx'
import { RevokeDialog } from './revoke-dialog.tsx'
import { apiKeysTexts as texts } from './texts.ts'
import typeStyles from '../../../ui/type.module.css'

/** The API keys of the logged-in member. */
export function ApiKeysPage() {
  const [creating, setCreating] = useState(false)
  const [fresh, setFresh] = useState<NewApiKey | null>(null)
  const [revoking, setRevoking] = useState<ApiKey | null>(null)
  const keys = useQuery(apiKeysQuery)
  const isFull = (keys.data?.items.length ?? 0) >= MAX_API_KEYS
  useKeys(isFull ? [] : [{ keys: 'n', label: texts.create, group: 'Page' as const, run: () => setCreating(true) }])
  const create = (
    <Button
      look="primary"
      icon="plus"
      keys={isFull ? undefined : 'n'}
      why={isFull ? texts.full : undefined}
      onClick={() => setCreating(true)}
    >
      {texts.create}
    </Button>
  )
  return (
    <>
      <SettingsHead title={texts.title} of={null} lead={texts.lead} actions={create} />
      {fresh === null ? null : (
        <SecretBox
          title={texts.fresh.title(fresh.name)}
          label={texts.fresh.label}
          secret={fresh.key}
          lost={texts.fresh.lost}
          onStored={() => setFresh(null)}
        >
          <Minor as="p">
            {texts.fresh.scopes} <code className={typeStyles.mono}>{fresh.scopes.join(' ')}</code>. {texts.fresh.sentAs}{' '}
            <code className={typeStyles.mono}>Authorization: Bearer {fresh.prefix}…</code>
          </Minor>
        </SecretBox>
      )}
      <PageQuery query={keys} what={texts.what} heightPx={220}>
        {(data) =>
          data.items.length === 0 ? (
            <Card>
              <EmptyState kind="setup" heading="h2" title={texts.none}>
                {texts.noneText} <GuideLink page="api-keys" />
              </EmptyState>
            </Card>
          ) : (
            <Card aria-label={texts.title}>
              <KeysTable keys={data.items} onRevoke={setRevoking} />
            </Card>
          )
        }
      </PageQuery>
      {creating ? <CreateDialog onClose={() => setCreating(false)} onCreated={setFresh} /> : null}
      {revoking === null ? null : <RevokeDialog apiKey={revoking} onClose={() => setRevoking(null)} />}
    </>
  )
}

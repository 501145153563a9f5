import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { paths } from '../../../address/paths.ts'
import { useLive } from '../../../api/live.ts'
import type { Project } from '../../../api/queries.ts'
import { newestSymbolFileQuery } from '../../../api/symbol-queries.ts'
import { BuildLines } from '../../../subjects/symbols/build-lines.tsx'
import { buildTexts } from '../../../subjects/symbols/build-texts.ts'
import { Badge } from '../../../ui/badge.tsx'
import { DisclosureIcon } from '../../../ui/disclosure-icon.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Stack } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { onboardingTexts } from './texts.ts'
import styles from './upload-step.module.css'

const texts = onboardingTexts.upload
const ASK_EVERY_MS = 5_000

/** The newest file that a build of the project uploaded; undefined while it is read, null before the first upload. */
export function useFirstUpload(projectId: string, needs: boolean) {
  const client = useQueryClient()
  const newest = newestSymbolFileQuery(projectId)
  useLive((messages) => {
    if (messages.some((message) => message.kind === 'symbols' && message.project_id === projectId))
      void client.invalidateQueries({ queryKey: newest.queryKey })
  })
  return useQuery({
    ...newest,
    enabled: needs,
    // A file may be stored long before it is indexed, which is what live messages tell.
    refetchInterval: ({ state }) => (state.data == null ? ASK_EVERY_MS : false),
    meta: { quiet: true },
  }).data
}

type UploadStepProps = {
  project: Project
  platform: Project['platform']
  first: ReturnType<typeof useFirstUpload>
  /** The first event is there: this is next. */
  isNext: boolean
}

/** How a build uploads the files that make stack traces readable, and whether the first has arrived. */
export function UploadStep({ project, platform, first, isNext }: UploadStepProps) {
  const [opened, setOpened] = useState<boolean | null>(null)
  const isOpen = opened ?? (isNext && first === null)
  return (
    <details
      className={styles.upload}
      open={isOpen}
      onToggle={({ currentTarget: { open } }) => setOpened(open === isOpen ? opened : open)}
    >
      <summary>
        <DisclosureIcon />
        <span>
          {texts.summary(texts.files[platform])}{' '}
          <span role="status">
            {first === undefined ? null : first === null ? (
              <Badge tone="plain">{texts.none}</Badge>
            ) : (
              <Badge tone="green" icon="check">
                {texts.received}
              </Badge>
            )}
          </span>
        </span>
      </summary>
      <Stack className={styles.lines}>
        {first == null ? null : (
          <Minor as="p" className={fitStyles.breaks}>
            {first.name}, <Time at={first.at} as="since" />.{' '}
            <Link {...paths.symbols({ project: project.id })}>{texts.all}</Link>
          </Minor>
        )}
        <BuildLines project={project} platform={platform} />
        <Minor as="p">
          <Link {...paths.apiKeys()}>{buildTexts.makeKey}</Link>
        </Minor>
      </Stack>
    </details>
  )
}

import { platformName, sharedPlatform } from '#shared/platforms.ts'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { projectsQuery } from '../../api/queries.ts'

/** The platform of every project, by id; empty while they load. */
export function useProjectPlatforms(): ReadonlyMap<string, string> {
  const { data } = useQuery(projectsQuery)
  return useMemo(() => new Map(data?.items.map(({ id, platform }) => [id, platform])), [data])
}

/** Shows platforms of issues as rows do. @param project whose issues are meant; null for those of all */
export function useShownPlatform(project: string | null): {
  platformOf: (platform: string) => string
  nameOf: (platform: string) => string
} {
  const platforms = useProjectPlatforms()
  return useMemo(() => {
    const inScope = [...platforms].flatMap(([id, platform]) => (project === null || id === project ? [platform] : []))
    const platformOf = (platform: string) => sharedPlatform(inScope, platform)
    return { platformOf, nameOf: (platform) => platformName(platformOf(platform)) }
  }, [platforms, project])
}

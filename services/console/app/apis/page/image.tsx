import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { client } from '../../http/client.ts'

interface ApiImageProps {
  id: string
  size: number
  alt: string
  /** False while the image is not needed yet. */
  wanted?: boolean
}

/** The image of an API. The request carries the token, so the browser shows the bytes from a blob: URL. */
export function ApiImage({ id, size, alt, wanted = true }: ApiImageProps) {
  const { data: blob, isError } = useQuery({
    queryKey: ['api', id, 'image'],
    queryFn: async ({ signal }) => {
      const { body, headers } = await client.downloadImage({ api_id: id }, { signal })
      return new Response(body, { headers }).blob()
    },
    staleTime: 60_000,
    enabled: wanted,
  })
  const url = useBlobUrl(blob)
  if (isError) return null
  const box = { display: 'block', flex: 'none', width: size, height: size, objectFit: 'contain' } as const
  return url ? <img src={url} alt={alt} style={box} /> : <span style={box} />
}

function useBlobUrl(blob: Blob | undefined): string | undefined {
  const [made, setMade] = useState<{ blob: Blob; url: string }>()
  useEffect(() => {
    if (!blob) return
    const url = URL.createObjectURL(blob)
    setMade({ blob, url })
    return () => URL.revokeObjectURL(url)
  }, [blob])
  // The URL of an earlier image is revoked.
  return made?.blob === blob ? made?.url : undefined
}

// java Client URL: java.net.http, as a program has it without settings.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

public class Client {
	public static void main(String[] args) throws Exception {
		HttpResponse<String> r = HttpClient.newHttpClient().send(
		    HttpRequest.newBuilder(URI.create(args[0])).build(),
		    HttpResponse.BodyHandlers.ofString());
		System.out.print(r.body());
		System.exit(r.statusCode() == 200 ? 0 : 1);
	}
}
